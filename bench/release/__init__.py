"""What a release is made with: wheel and sdist in equal bytes, the wheelhouse, and the pages that are drawn from the code."""

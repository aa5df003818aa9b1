"""The provider's dashboard: pages for people, behind a sign-in of their own; part of `aggregator serve`, in a process of its own."""

"""Files as released versions wrote them, one folder a version, and tests that they still open, verify and mean the same.

NEVER regenerate them, and never change one: hospitals and providers hold such files, and a version that can't read them
any more has to say so and bring a migration. A later version of a format adds a folder and a test file of its own beside
those that are here. Where a format is given up on purpose, its tests then say with which error it is refused.

The notes in them are generated, the keys were made for them and open nothing else.
"""

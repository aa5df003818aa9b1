"""The drawing of the house: its packages and rooms, their floors, and who imports whom; made from the code."""

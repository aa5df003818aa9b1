SPANISH: dict = {}

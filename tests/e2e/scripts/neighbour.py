WORD = "next door"

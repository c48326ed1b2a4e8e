"""What the columns of the tables hold, what each is for, and the task that follows.

``profiles.of`` describes the columns by their cells, and ``roles.find`` decides. Every decision has its reason as a sentence, and
what is ambiguous is a UserError with a question.
"""

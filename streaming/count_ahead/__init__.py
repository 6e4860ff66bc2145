"""What is known or prepared before a batch function asks for it."""

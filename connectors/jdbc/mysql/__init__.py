"""MySQL and MariaDB by PyMySQL: writes that are published once."""

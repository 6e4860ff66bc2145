"""What every other package stands on: errors, clock, storage, logging. Imports no sibling and no Spark."""

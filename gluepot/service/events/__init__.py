"""Events, as Amazon EventBridge has them: what jobs tell the world, and what starts workflows (docs/glue 11.3)."""

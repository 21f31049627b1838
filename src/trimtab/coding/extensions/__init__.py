"""Code and commands of others that act in a session: Python extensions, and shell hooks from settings.

    packages, HOME/extensions, .trimtab/extensions ──found, judged by content──▶ bytes ──modules──▶ extend(api) ─┐
    [[hooks.POINT]] of each layer of settings ──judged by content where a project's──▶ a command ────────────────┼──▶ HookPoints ──▶ the session
                                                                                                                 └─ tools, commands, sections, …

The one rule: nothing that stands here can take a session down, and what guards a call and fails refuses it.
"""

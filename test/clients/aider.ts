// aider, which calls no tools: its loop is an edit, the output of a test that fails, the next edit. What it takes in a
// fixed form is the edit itself.
import { join } from 'node:path'

import type { Command, Task } from './agents.ts'
import { OFFLINE } from './agents.ts'
import { pythonWith } from './programs.ts'

export const AIDER = 'aider-chat==0.86.2'

/** `family` decides the format: chat completions or messages. */
export async function aiderCommand(
  family: 'openai' | 'anthropic',
  { url, key, model, prompt }: Task,
  ...more: readonly string[]
): Promise<Command> {
  const python = await pythonWith([AIDER])
  return {
    command: join(python, '..', 'aider'),
    args: [
      ...['--model', `${family}/${model}`, '--message', prompt, '--edit-format', 'whole'],
      ...['--no-git', '--yes-always', '--no-pretty', '--no-check-update', '--analytics-disable'],
      ...['--no-show-model-warnings', '--no-show-release-notes', '--no-gitignore', ...more],
    ],
    env: {
      ...OFFLINE,
      ...(family === 'openai'
        ? { OPENAI_API_BASE: `${url}/v1`, OPENAI_API_KEY: key }
        : { ANTHROPIC_API_BASE: url, ANTHROPIC_API_KEY: key }),
    },
  }
}

// Options that a command cannot do without. Commander would name the first one missing alone, and before a mistyped
// option that may be the very one; here all are named, after everything else about the options is right.
import type { Command, Option } from 'commander'

import { UsageError } from './failure.ts'

export function demand(command: Command, options: readonly Option[]): Command {
  for (const option of options) {
    option.description += ' (required)'
    command.addOption(option)
  }
  return command.hook('preAction', () => {
    const missing = options.filter(
      (option) => command.getOptionValue(option.attributeName()) === undefined,
    )
    if (missing.length === 0) return
    throw new UsageError(`missing: ${missing.map(({ flags }) => flags).join(', ')}`)
  })
}

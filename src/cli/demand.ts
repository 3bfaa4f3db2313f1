// Required options. Commander would name only the first missing one, and before a mistyped option that may be that very
// one; here all are named, once everything else about the options is right.
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

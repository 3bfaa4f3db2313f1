// What is wrong with the options of a call, all of it at once: values that cannot be read, and options that are missing.
import { InvalidArgumentError, type Command, type Option } from 'commander'
import { UsageError } from '../terminal/failure.ts'

const demanded = new WeakMap<Command, readonly Option[]>()

/** Options without which the command cannot be called. */
export function demand(command: Command, options: readonly Option[]): Command {
  for (const option of options) {
    option.description += ' (required)'
    command.addOption(option)
  }
  demanded.set(command, options)
  return command
}

/**
 * Commander would stop at the first value that cannot be read, and would name only the first missing option, before a
 * mistyped one that may be it. Call this when the program has all of its commands.
 */
export function refuseTogether(program: Command): void {
  const unreadable: string[] = []
  for (const option of optionsOf(program)) noteUnreadable(option, unreadable)
  program.hook('preAction', (_, called) => {
    const missing = missingOf(called).map(({ flags }) => flags)
    const mistakes = [
      ...unreadable,
      ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ]
    if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  })
}

function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...command.commands.flatMap(optionsOf)]
}

/** The text of a mistake is Commander's own. */
function noteUnreadable(option: Option, unreadable: string[]): void {
  const { parseArg: read } = option
  if (read === undefined) return
  option.parseArg = (text, before) => {
    try {
      return read(text, before)
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error
      const what = `option '${option.flags}' argument '${text}' is invalid. ${error.message}`
      unreadable.push(what.replaceAll('\n', ' '))
      return before
    }
  }
}

/** One whose value cannot be read is not missing. */
function missingOf(command: Command): readonly Option[] {
  const options = demanded.get(command) ?? []
  return options.filter((option) => command.getOptionValue(option.attributeName()) === undefined)
}

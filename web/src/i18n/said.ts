// What the gateway refused, in the words of the reader's language; in its own words where the catalogue has none, as
// after an update of the gateway alone.
import { shownTexts } from './use-translation.ts'

/** A sentence of the gateway: in English, and by name with its values. */
export type Refusal = {
  readonly message: string
  readonly reason?: string | undefined
  readonly values?: Readonly<Record<string, string | number>> | undefined
}

/** To be called while something is drawn that follows the language by itself. */
export function said({ message, reason, values = {} }: Refusal): string {
  const { find } = shownTexts()
  const { field, permission } = values
  const words = {
    ...values,
    ...(field === undefined ? {} : { field: find(`keyField.${field}`) ?? field }),
    ...(permission === undefined
      ? {}
      : { permission: find(`permission.${permission}`) ?? permission }),
  }
  return find(`refused.${reason}`, words) ?? message
}

// A refusal of the gateway in the reader's language; in the gateway's own words if the catalogue lacks it, as after an
// update of the gateway alone.
import { shownTexts } from './use-translation.ts'

/** A message of the gateway: in English, and as a name with values. */
export type Refusal = {
  readonly message: string
  readonly reason?: string | undefined
  readonly values?: Readonly<Record<string, string | number>> | undefined
}

/** Does not subscribe to the language: call it only while rendering something that does. */
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

// Files that lie at the provider, in the account that all keys share: named by their ids, or by addresses that only the
// account can read. No request may name one, in any format and also in passthrough (docs/translation.md).
import { unsupportedParameter } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { isArray, isGiven, isObject } from '../core/json.ts'

/** Why something of the provider account is refused, whatever it is. */
export const ACCOUNT = 'it refers to something in a provider account that all keys share'

/** What providers and the servers before them open, one address or a list of them. A text may say anything. */
const ADDRESS_FIELD = /(?:^|_)url$|^(?:file_data|image|video|audio)$/

/** gs:// and its like are read with the rights of the account, file:// from the provider's own disk. */
const ADDRESS = /^\s*(?!https?:)[a-z][a-z\d+.-]{0,30}:\/\//i

/** Refuses the first one anywhere inside. */
export function refuseAccountFiles(value: Json | undefined, place: string): void {
  if (isArray(value)) {
    value.forEach((each, index) => refuseAccountFiles(each, `${place}[${index}]`))
  }
  if (!isObject(value)) return
  for (const [name, member] of Object.entries(value)) {
    // Where an answer had its words from: nothing is opened for it.
    if (name === 'annotations') continue
    const memberPlace = `${place}.${name}`
    if (name === 'file_id' && isGiven(member)) refuseFileId(memberPlace)
    if (ADDRESS_FIELD.test(name)) refuseAddress(member, memberPlace)
    refuseAccountFiles(member, memberPlace)
  }
}

/** A file that a provider keeps: whoever uploaded it, every key could read it. */
function refuseFileId(place: string): never {
  throw unsupportedParameter(
    place,
    `${place} is not supported: ${ACCOUNT}; send the file's content instead`,
  )
}

function refuseAddress(value: Json | undefined, place: string): void {
  if (isArray(value)) value.forEach((each, index) => refuseAddress(each, `${place}[${index}]`))
  if (typeof value !== 'string' || !ADDRESS.test(value)) return
  throw unsupportedParameter(
    place,
    `${place} is not supported: use an http or data URL, because others can read from a provider account that all keys share`,
  )
}

// Files kept at the provider, in the account that all keys share or on its disk: referenced by id, or by URLs that only
// the provider can read. No request may reference one, in any format and in passthrough too (docs/translation.md).
import { unsupportedParameter } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { isArray, isGiven, isObject } from '../core/json.ts'

/** Why anything in the provider account is refused, whatever it is. */
export const ACCOUNT = 'it refers to something in a provider account that all keys share'

/** Fields that providers, or servers in front of them, open as URLs, one or a list. Other texts may say anything. */
const ADDRESS_FIELD = /(?:^|_)url$|^(?:file_data|image|video|audio)$/

/** gs:// and the like are read with the rights of the account. */
const ACCOUNT_ADDRESS = /^(?!https?:|file:)[a-z][a-z\d+.-]{0,30}:\/\//i

/** Some servers open a bare path, too. It has a dot before any colon, unlike other URLs and base64. */
const DISK_ADDRESS = /^file:|^[^:.]*\./i

/** No path is longer, and no other address needs more to be recognized. */
const ADDRESS_CHARACTERS = 4_096

/** Refuses the first one at any depth. */
export function refuseAccountFiles(value: Json | undefined, place: string): void {
  if (isArray(value)) {
    value.forEach((each, index) => refuseAccountFiles(each, `${place}[${index}]`))
  }
  if (!isObject(value)) return
  for (const [name, member] of Object.entries(value)) {
    // The sources of an earlier answer: nothing opens them.
    if (name === 'annotations') continue
    const memberPlace = `${place}.${name}`
    if (name === 'file_id' && isGiven(member)) refuseFileId(memberPlace)
    if (ADDRESS_FIELD.test(name)) refuseAddress(member, memberPlace)
    refuseAccountFiles(member, memberPlace)
  }
}

/** A file kept at the provider: whoever uploaded it, every key could read it. */
function refuseFileId(place: string): never {
  throw unsupportedParameter(
    place,
    `${place} is not supported: ${ACCOUNT}; send the file's content instead`,
  )
}

function refuseAddress(value: Json | undefined, place: string): void {
  if (isArray(value)) value.forEach((each, index) => refuseAddress(each, `${place}[${index}]`))
  if (typeof value !== 'string') return
  // Servers written in Python ignore control characters in an address.
  const address = value.slice(0, ADDRESS_CHARACTERS).replaceAll(/[\0-\x20]/g, '')
  const why = whyRefused(address)
  if (why === undefined) return
  throw unsupportedParameter(
    place,
    `${place} is not supported: use an http or data URL, because this one ${why}`,
  )
}

/** Google's own addresses of files that were uploaded into an account. */
const ACCOUNT_HOST = /(?:^|[.-])(?:generativelanguage|aiplatform)\.googleapis\.com\.?$/

function isAtAccountHost(address: string): boolean {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return false
  return ACCOUNT_HOST.test(new URL(address).hostname)
}

function whyRefused(address: string): string | undefined {
  if (ACCOUNT_ADDRESS.test(address) || isAtAccountHost(address)) {
    return 'is read with the rights of a provider account that all keys share'
  }
  return DISK_ADDRESS.test(address) ? "names a file on a provider's own disk" : undefined
}

// Where a request comes from, and how much of that is kept. A header that names the client's address counts only when it
// comes from a proxy that the operator trusts: anyone else could name any address.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4 } from 'node:net'

/** `full`; `prefix`: the network of a customer, /24 or /48; `none`. */
export const KEPT_ADDRESSES = ['full', 'prefix', 'none'] as const
type KeptAddress = (typeof KEPT_ADDRESSES)[number]

/** As much of the address of a request's client as is kept. */
export type AddressOf = (message: IncomingMessage) => string | null

/** How much is kept changes with the configuration, the trusted proxies do not. */
export function addressesAsKept(proxies: readonly string[], kept: () => KeptAddress): AddressOf {
  const list = addressList(proxies)
  return (message) => keptAddress(clientAddress(senderOf(message), list), kept())
}

/** `10.1.2.3`, or `10.0.0.0/8`. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/')
  const most = isIPv4(address) ? 32 : 128
  return isIP(address) !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most
}

/** Of addresses and networks. */
export function addressList(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const [address = '', bits] = text.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

type Sender = {
  /** The other end of the connection. */
  readonly remoteAddress: string | undefined
  /** The header X-Forwarded-For. */
  readonly forwardedFor?: string | undefined
}

function senderOf({ socket, headers }: IncomingMessage): Sender {
  const forwarded = headers['x-forwarded-for']
  return {
    remoteAddress: socket.remoteAddress,
    forwardedFor: typeof forwarded === 'string' ? forwarded : forwarded?.join(),
  }
}

/** The nearest address that is no trusted proxy; undefined when there is none to believe. */
export function clientAddress(
  { remoteAddress = '', forwardedFor = '' }: Sender,
  proxies: BlockList,
): string | undefined {
  const path = [...forwardedFor.split(','), remoteAddress].map((each) => plain(each.trim()))
  for (const address of path.toReversed()) {
    // What a trusted proxy passes on, and is no address, hides all before it.
    if (isIP(address) === 0) return undefined
    if (!proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')) return address
  }
  return undefined
}

/** Without a zone, and an IPv4 address as such. */
function plain(address: string): string {
  const [bare = ''] = address.split('%')
  return /^::ffff:[\d.]+$/i.test(bare) ? bare.slice('::ffff:'.length) : bare
}

export function keptAddress(address: string | undefined, how: KeptAddress): string | null {
  if (address === undefined || how === 'none') return null
  return how === 'full' ? address : prefixOf(address)
}

const GROUPS = 8
const GROUPS_KEPT = 3

function prefixOf(address: string): string {
  if (isIPv4(address)) return address.replace(/\d+$/, '0/24')
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === '' ? [] : tail.split(':')
  const missing = Array.from(
    { length: Math.max(0, GROUPS - first.length - last.length) },
    () => '0',
  )
  const groups = [...first, ...missing, ...last].slice(0, GROUPS_KEPT)
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/48`
}

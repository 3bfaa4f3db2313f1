// Texts: names that people give, the one they may have meant, addresses, the cells of a spreadsheet.

/** A name, cleaned so that both databases can store it and nobody is misled by how it looks: one line, and names that look the same are the same. */
export function label(text: string): string {
  return line(visible(text))
}

/** Removes characters that are invisible or reorder the text around them, except where they join an emoji. */
export function visible(text: string): string {
  if (isPlain(text)) return text
  invisible ??= new RegExp(String.raw`(\p{RGI_Emoji})|\p{Default_Ignorable_Code_Point}`, 'gv')
  return text.normalize('NFC').replaceAll(invisible, '$1')
}

/** Printable ASCII alone, as most names are: what Unicode asks of others can be left out. */
export function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/** Made when it is first needed: to read it takes 40 ms, at every start and for every page. */
let invisible: RegExp | undefined

/** One line: line breaks and other control characters become spaces. */
export function line(text: string): string {
  return storable(text)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
}

/** PostgreSQL stores no NUL, and neither database stores half a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/**
 * The name someone may have meant by a mistyped one: that with the fewest letters changed; undefined if even that one
 * differs too much. Its time grows with the product of both lengths: callers first cut text that comes from outside.
 */
export function closest(asked: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(asked.length / 2)) + 1
  for (const name of names) {
    const distance = editDistance(asked.toLowerCase(), name.toLowerCase())
    if (distance < least) {
      best = name
      least = distance
    }
  }
  return best
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

/** Comma-separated values, for spreadsheets. */
export function csvText(
  names: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [names, ...rows].map((row) => row.map(cell).join(',')).join('\n')
}

/**
 * Spreadsheets run what begins like a formula, and clients choose the names of models. Where a comma separates decimals,
 * they split at semicolons instead, and heed no quotes within a line.
 */
function cell(value: string | number | null): string {
  const safe = String(value ?? '').replaceAll(/(^|[;\t\r\n][ "]*)(?=[=+\-@＝＋－＠])/g, "$1'")
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** http://HOST:PORT; an IPv6 address stands in brackets. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** For an address that others begin with: a slash at its end makes no difference. */
export function withoutEndSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** The network that an address belongs to: a single customer has 2^64 IPv6 addresses. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = ''] = address.split('::')
  return head.split(':').slice(0, 4).join(':')
}

/** Splits long lists: an SQL statement takes only so many values. */
export function chunk<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, n) => items.slice(n * size, (n + 1) * size))
}

/** For comparing without regard to case; both databases fold ASCII letters alone. */
export function caseFold(text: string): string {
  // To lower case first: only then does ß become what ẞ does, ς what σ does, and İ lose its dot.
  return text.normalize('NFC').toLowerCase().toUpperCase().replaceAll('I\u0307', 'I')
}

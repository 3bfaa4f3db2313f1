// Texts that people give, cleaned so that both databases can store them and nobody is misled by how they look.

/** A name: one line, and names that look the same are the same. */
export function label(text: string): string {
  return line(visible(text))
}

/** Removes characters that are invisible or reorder the text around them, except where they join an emoji. */
export function visible(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/(\p{RGI_Emoji})|\p{Default_Ignorable_Code_Point}/gv, '$1')
}

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

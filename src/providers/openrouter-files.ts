// Files at OpenRouter. For a model that does not read PDF files itself, it has them read by OCR, unless told otherwise:
// for a fee per page, which no hold covers and no usage reports.
import { factsOf } from '../catalog/model-facts.ts'
import { changeMembers, readAgain } from '../wire/json/body.ts'

/** The request with a way to read its files that costs nothing but tokens. */
export async function withFreeParser(bytes: Buffer, model: string): Promise<Buffer> {
  if (!FILE_WORDS.some((word) => bytes.includes(word))) return bytes
  const engine = readsFiles(model) ? 'native' : 'cloudflare-ai'
  const plugins = [{ id: 'file-parser', pdf: { engine } }]
  return changeMembers(await readAgain(bytes), { plugins })
}

/** The last one because JSON escapes may spell either of the others. */
const FILE_WORDS = ['"file"', '"input_file"', '\\u00']

/** Claude's versions have a dot there, and a hyphen elsewhere. */
function readsFiles(model: string): boolean {
  const names = [model, model.replaceAll('.', '-')]
  return names.some((name) => factsOf(name)?.abilities.files === true)
}

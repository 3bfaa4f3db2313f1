// Why a call was refused, or would be.
import { useWords } from '../i18n/use-words.ts'
import { refusalWords } from './refusal-words.ts'
import type { RefusedCall } from './refusal-words.ts'

export function CallRefusal({ error }: { readonly error: RefusedCall }) {
  const lines = refusalWords(error, useWords())
  return lines.map((line) => (
    <div key={line} className="break">
      {line}
    </div>
  ))
}

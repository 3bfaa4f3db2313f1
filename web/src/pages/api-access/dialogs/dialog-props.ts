// The props of every dialog about a key.
import type { KeyInBrief } from '../key-in-brief.ts'

export type KeyDialogProps = {
  readonly keyInBrief: KeyInBrief
  readonly onClose: () => void
}

// What every dialog about a key is given.
import type { KeyInBrief } from '../key-in-brief.ts'

export type KeyDialogProps = {
  readonly keyInBrief: KeyInBrief
  readonly onClose: () => void
}

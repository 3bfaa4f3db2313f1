// Shows the dialog of an action on a key, for the row menu and for the key's own page.
import type { KeyAction, KeyInBrief } from '../key-in-brief.ts'
import { EndOverlapDialog } from './end-overlap-dialog.tsx'
import { PauseDialog } from './pause-dialog.tsx'
import { ResetDialog } from './reset-dialog.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { TestDialog } from './test-dialog.tsx'
import { TopUpKeyDialog } from './top-up-key-dialog.tsx'

type KeyDialogsProps = {
  readonly action: KeyAction
  readonly keyInBrief: KeyInBrief
  readonly onClose: () => void
  readonly onAction: (action: KeyAction) => void
}

export function KeyDialogs({ action, ...props }: KeyDialogsProps) {
  switch (action) {
    case 'pause':
      return <PauseDialog {...props} />
    case 'revoke':
      return <RevokeDialog {...props} />
    case 'rotate':
      return <RotateDialog {...props} />
    case 'end-overlap':
      return <EndOverlapDialog {...props} />
    case 'top-up':
      return <TopUpKeyDialog {...props} />
    case 'reset':
      return <ResetDialog {...props} />
    case 'test':
      return <TestDialog {...props} />
  }
}

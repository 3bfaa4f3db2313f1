// Someone else changed the key meanwhile: says who and what, and offers to start over from their version or to apply
// the reader's changes on top. Only the fields the reader changed are sent, so the other person's stay.
import { Button, Group, Stack } from '@mantine/core'
import { useWords } from '../../../i18n/use-words.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import type { Conflict } from '../../../../../src/admin/contract/errors.ts'
import { Notice } from '../../../parts/notice.tsx'
import { ChangeList } from '../../../parts/change-list.tsx'
import { recordedLine } from '../../../audit/change-lines.ts'
import type { ChangeLine } from '../../../audit/change-lines.ts'

type ConflictDialogProps = {
  readonly conflict: Conflict
  readonly mine: readonly ChangeLine[]
  readonly isPending: boolean
  readonly onReload: () => void
  readonly onApply: () => void
  readonly onClose: () => void
}

export function ConflictDialog(props: ConflictDialogProps) {
  const { conflict, mine, isPending, onReload, onApply, onClose } = props
  const words = useWords()
  const { t, format } = words
  return (
    <Dialog onClose={onClose} title={t('conflict.title')}>
      <Stack>
        <Notice tone="warn" announce>
          {t('conflict.about')}
        </Notice>
        {conflict.changes.map(({ at, actor, fields }) => (
          <section key={at + actor}>
            <h3>{t('conflict.theirs', { actor, when: format.dateTime(at) })}</h3>
            <ChangeList lines={fields.map((field) => recordedLine(field, words))} />
          </section>
        ))}
        <section>
          <h3>{t('conflict.mine')}</h3>
          <ChangeList lines={mine} />
        </section>
        <Group justify="flex-end">
          <Button variant="default" onClick={onReload}>
            {t('conflict.reload')}
          </Button>
          <Button loading={isPending} onClick={onApply}>
            {t('conflict.apply')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

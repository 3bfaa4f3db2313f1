// The only time a secret is visible: after creation and after rotation. It exists only in this dialog's memory, and
// closing the dialog before the secret is stored asks again.
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { GuardedDialog } from '../../../parts/guarded-dialog.tsx'
import { Notice } from '../../../parts/notice.tsx'
import { SecretField } from './secret-field.tsx'
import { SnippetTabs } from './snippet-tabs.tsx'
import { TestCall } from './test-call.tsx'
import styles from './secret-dialog.module.css'

type SecretDialogProps = {
  readonly created: {
    readonly id: string
    readonly name: string
    readonly models: readonly string[]
    /** Null: the first answer, which carried it, was lost, and this is a repeat. */
    readonly secret: string | null
  }
  readonly reason: 'created' | 'rotated'
  readonly onClose: () => void
}

export function SecretDialog({ created, reason, onClose }: SecretDialogProps) {
  const { secret } = created
  if (secret === null) return <LostSecret name={created.name} onClose={onClose} />
  return <ShownSecret created={{ ...created, secret }} reason={reason} onClose={onClose} />
}

type ShownSecretProps = SecretDialogProps & { readonly created: { readonly secret: string } }

function ShownSecret({ created, reason, onClose }: ShownSecretProps) {
  const { t } = useTranslation()
  const [isStored, setStored] = useState(false)
  const { id, name, models, secret } = created
  return (
    <GuardedDialog
      size="xl"
      title={t(`secret.${reason}`, { name })}
      isKept={isStored}
      question={{ title: t('secret.closeTitle'), loss: t('secret.closeEffect') }}
      onClose={onClose}
    >
      {(close) => (
        <Stack>
          <Notice tone="warn" title={t('secret.once')}>
            {t('secret.keepSafe')}
          </Notice>
          <SecretField secret={secret} onCopied={() => setStored(true)} />
          <SnippetTabs models={models} secret={secret} />
          <TestCall id={id} />
          <div className={styles['foot']}>
            <Checkbox
              label={t('secret.stored')}
              checked={isStored}
              onChange={({ currentTarget }) => setStored(currentTarget.checked)}
            />
            <Button disabled={!isStored} onClick={close}>
              {t('secret.done')}
            </Button>
          </div>
        </Stack>
      )}
    </GuardedDialog>
  )
}

type LostSecretProps = { readonly name: string; readonly onClose: () => void }

function LostSecret({ name, onClose }: LostSecretProps) {
  const { t } = useTranslation()
  return (
    <Dialog onClose={onClose} title={t('secret.lostTitle')}>
      <Stack>
        <Notice tone="warn">{t('secret.lost', { name })}</Notice>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('dialog.close')}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

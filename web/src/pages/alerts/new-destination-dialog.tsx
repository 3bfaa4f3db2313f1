// Adds a webhook or an e-mail address. The secret that signs a webhook is shown here, once.
import { Radio, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { alertRoutes } from '../../../../src/admin/contract/alerts.ts'
import type { BodyOf } from '../../../../src/admin/contract/route.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { CopyBlock } from '../../parts/copy-block.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { Notice } from '../../parts/notice.tsx'
import { OnceDialog } from '../../parts/once-dialog.tsx'
import { useAttempt } from '../../use-attempt.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByAlerts } from './alert-queries.ts'

type NewDestinationDialogProps = {
  readonly isEmailAvailable: boolean
  readonly onClose: () => void
}

const kinds = ['webhook', 'email'] as const

export function NewDestinationDialog({ isEmailAvailable, onClose }: NewDestinationDialogProps) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<(typeof kinds)[number]>('webhook')
  const [address, setAddress] = useState('')
  const [isTried, setTried] = useState(false)
  const [secret, setSecret] = useState<string>()
  const attempt = useAttempt()
  const add = useChange(madeOldByAlerts, {
    change: () => {
      const body: BodyOf<typeof alertRoutes.createDestination> =
        kind === 'webhook' ? { kind, url: address.trim() } : { kind, to: address.trim() }
      return call(alertRoutes.createDestination, { body, idempotencyKey: attempt.keyFor(body) })
    },
    said: (made) => t('alerts.added', { address: made.address }),
    onAnswer: (made) => (made.secret === null ? onClose() : setSecret(made.secret)),
  })
  if (secret !== undefined) return <SigningSecret secret={secret} onClose={onClose} />
  return (
    <ConfirmDialog
      title={t('alerts.add')}
      action={t('alerts.add')}
      isPending={add.isPending}
      error={unplaced(add.error, ['url', 'to'])}
      onConfirm={() => (address.trim() === '' ? setTried(true) : add.mutate())}
      onCancel={onClose}
    >
      <Radio.Group
        label={t('picker.kind')}
        value={kind}
        onChange={(value) => setKind(kinds.find((each) => each === value) ?? 'webhook')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="webhook" label={t('alerts.kind.webhook')} />
          <Radio
            value="email"
            label={t('alerts.kind.email')}
            description={isEmailAvailable ? undefined : t('alerts.noMail')}
            disabled={!isEmailAvailable}
          />
        </Stack>
      </Radio.Group>
      <TextInput
        label={t(kind === 'webhook' ? 'alerts.url' : 'signIn.email')}
        description={kind === 'webhook' ? t('alerts.urlAbout') : undefined}
        placeholder={kind === 'webhook' ? 'https://hooks.example.com/tollgate' : 'ann@example.com'}
        required
        data-autofocus
        autoComplete="off"
        value={address}
        error={
          isTried && address.trim() === ''
            ? t('alerts.addressNeeded')
            : problemOf(add.error, kind === 'webhook' ? 'url' : 'to')
        }
        onChange={({ currentTarget }) => setAddress(currentTarget.value)}
      />
    </ConfirmDialog>
  )
}

type SigningSecretProps = { readonly secret: string; readonly onClose: () => void }

function SigningSecret({ secret, onClose }: SigningSecretProps) {
  const { t } = useTranslation()
  return (
    <OnceDialog title={t('alerts.secret')} loss={t('once.signing')} onClose={onClose}>
      {(onCopied) => (
        <>
          <Notice tone="warn" title={t('secret.once')}>
            {t('alerts.secretAbout')}
          </Notice>
          <CopyBlock label={t('alerts.secret')} text={secret} onCopied={onCopied} />
        </>
      )}
    </OnceDialog>
  )
}

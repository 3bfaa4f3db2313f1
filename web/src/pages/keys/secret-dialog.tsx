// The only time a secret is visible: after creation and after rotation. It exists only in this dialog's memory, and
// closing the dialog before the secret is stored asks again.
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { CallResult } from '../../../../src/admin/contract/trial.ts'
import { keyRoutes } from '../../../../src/admin/contract/keys.ts'
import type { Endpoint } from '../../../../src/core/endpoints.ts'
import { call, modelAnswerMsMax } from '../../base/api.ts'
import { aboutQuery } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { BusyButton, useChange } from '../../parts/changes.tsx'
import { CopyBlock, CopyButton } from '../../parts/copy.tsx'
import { Dialog, GuardedDialog } from '../../parts/dialogs.tsx'
import { EyeIcon, PlayIcon } from '../../parts/icons.tsx'
import { CallRefusal, ErrorAlert, Loading, Notice } from '../../parts/notices.tsx'
import { tabOnDemand } from '../../parts/on-demand.tsx'
import { callFacts } from '../../parts/refusal-words.ts'
import { madeOldByKey } from './key-words.ts'
import { environmentText } from './environment.ts'
import styles from './secret-dialog.module.css'

// The secret needs nothing but this dialog; the code beside it has none, and may come later.
const SnippetTabs = tabOnDemand(
  async () => (await import('./snippet-tabs.tsx')).SnippetTabs,
  <Loading lines={1} height={180} />,
)

type SecretDialogProps = {
  readonly created: {
    readonly id: string
    readonly name: string
    readonly models: readonly string[]
    readonly permissions: readonly Endpoint[]
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
  const { id, name, models, permissions, secret } = created
  const store = () => setStored(true)
  return (
    <GuardedDialog
      size="xl"
      title={t(`secret.${reason}`, { name })}
      isKept={isStored}
      question={{ title: t('secret.closeTitle'), loss: t('secret.closeEffect') }}
      onClose={onClose}
    >
      {(close) => (
        <>
          <Notice tone="warn" title={t('secret.once')}>
            {t('secret.keepSafe')}
          </Notice>
          <SecretField secret={secret} onCopied={store} />
          <Environment secret={secret} onCopied={store} />
          <SnippetTabs models={models} permissions={permissions} />
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
        </>
      )}
    </GuardedDialog>
  )
}

function LostSecret({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog
      title={t('secret.lostTitle')}
      onClose={onClose}
      buttons={<Button onClick={onClose}>{t('dialog.close')}</Button>}
    >
      <Notice tone="warn">{t('secret.lost', { name })}</Notice>
    </Dialog>
  )
}

type SecretFieldProps = { readonly secret: string; readonly onCopied: () => void }

/** A screen reader hears what it is and its length, not the secret itself. */
function SecretField({ secret, onCopied }: SecretFieldProps) {
  const { t } = useTranslation()
  const [isShown, setShown] = useState(true)
  const field = useRef<HTMLInputElement>(null)
  return (
    <div className={styles['field']}>
      <TextInput
        ref={field}
        label={t('secret.label', { length: secret.length })}
        type={isShown ? 'text' : 'password'}
        value={secret}
        readOnly
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        onCopy={onCopied}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <div>
        <CopyButton
          text={secret}
          label={t('secret.what')}
          variant="filled"
          size="sm"
          onCopied={onCopied}
          onFailure={() => {
            setShown(true)
            field.current?.select()
          }}
        />
      </div>
      <Button
        variant="default"
        size="sm"
        leftSection={<EyeIcon />}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? t('secret.hide') : t('secret.show')}
      </Button>
    </div>
  )
}

/** The lines that every snippet below relies on; copying them stores the secret as much as copying it alone. */
function Environment({ secret, onCopied }: SecretFieldProps) {
  const { t } = useTranslation()
  const about = useQuery(aboutQuery)
  const text = environmentText(secret, about.data?.base_url ?? location.origin)
  return (
    <div>
      <p>{t('secret.environment')}</p>
      <CopyBlock label={t('secret.environmentWhat')} text={text} onCopied={onCopied} />
    </div>
  )
}

/** A small call by the gateway itself: shows that the key works, or the error a program would get. */
export function TestCall({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const test = useChange(madeOldByKey, {
    change: () =>
      call(keyRoutes.testKey, { params: { id }, body: {}, timeoutMs: modelAnswerMsMax }),
  })
  return (
    <div>
      <BusyButton
        variant="default"
        leftSection={<PlayIcon />}
        isBusy={test.isPending}
        onClick={() => test.mutate()}
      >
        {t('testCall.run')}
      </BusyButton>
      <div aria-live="polite" className={styles['result']}>
        {test.data && <TestResult result={test.data} />}
        {test.error && <ErrorAlert title={t('testCall.notMade')} error={test.error} />}
      </div>
    </div>
  )
}

function TestResult({ result }: { readonly result: CallResult }) {
  const words = useTranslation()
  const { t } = words
  if (result.error)
    return (
      <Notice tone="bad" title={t('testCall.refused', { status: result.status })}>
        <CallRefusal error={result.error} />
        <small className="muted">
          <code>{result.error.code}</code> · {t('error.requestId')} <code>{result.request_id}</code>
        </small>
      </Notice>
    )
  return (
    <Notice tone="good" title={t('testCall.passed', { model: result.model })}>
      {callFacts(result, words)}
    </Notice>
  )
}

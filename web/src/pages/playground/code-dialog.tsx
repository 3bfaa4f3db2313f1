// The call that the playground would make, as code: curl, Python and TypeScript. The secret comes from the environment.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { callBody, type Spoken } from '../../../../src/admin/contract/trial.ts'
import { limitsQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Dialog } from '../../parts/dialogs.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { CallTabs } from '../keys/snippet-tabs.tsx'

type CodeDialogProps = {
  readonly keyId: string
  readonly spoken: Spoken
  readonly onClose: () => void
}

const snippets = ['curl', 'python', 'typescript'] as const

export function CodeDialog({ keyId, spoken, onClose }: CodeDialogProps) {
  const { t } = useTranslation()
  // It knows which endpoint the key would use.
  const limits = useQuery(limitsQuery(keyId, spoken.model))
  const endpoint = limits.data?.endpoint
  return (
    <Dialog
      size="xl"
      title={t('playground.codeTitle')}
      onClose={onClose}
      buttons={
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('dialog.close')}
        </Button>
      }
    >
      <p className="muted">{t('playground.codeAbout')}</p>
      <QueryError title={t('detail.failed')} query={limits} />
      {limits.isPending && <Loading lines={1} height={180} />}
      {endpoint && (
        <CallTabs
          label={t('secret.snippets')}
          calls={[{ endpoint, body: callBody(endpoint, spoken) }]}
          snippets={snippets}
        />
      )}
    </Dialog>
  )
}

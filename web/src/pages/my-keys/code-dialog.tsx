// Code for calls with a key whose secret its owner has kept.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { keyQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Dialog } from '../../parts/dialogs.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { SnippetTabs } from '../keys/snippet-tabs.tsx'

type CodeDialogProps = {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
}

export function CodeDialog({ id, name, onClose }: CodeDialogProps) {
  const { t } = useTranslation()
  const key = useQuery({ ...keyQuery(id), refetchInterval: false })
  return (
    <Dialog
      size="xl"
      title={t('myKeys.codeTitle', { name })}
      onClose={onClose}
      buttons={
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('dialog.close')}
        </Button>
      }
    >
      <p className="muted">{t('myKeys.codeAbout')}</p>
      <QueryError title={t('detail.failed')} query={key} />
      {key.isPending && <Loading lines={1} height={180} />}
      {key.data && <SnippetTabs models={key.data.models} permissions={key.data.permissions} />}
    </Dialog>
  )
}

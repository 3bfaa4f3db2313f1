// A one-time link: says that it was mailed, or shows it once to pass on.
import { Button, Group, Stack } from '@mantine/core'
import type { PersonAnswer, SentLink } from '../../../../src/admin/contract/people.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { CopyBlock } from '../../parts/copy-block.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Notice } from '../../parts/notice.tsx'
import { OnceDialog } from '../../parts/once-dialog.tsx'

type LinkDialogProps = {
  readonly person: PersonAnswer
  readonly link: SentLink
  readonly onClose: () => void
}

export function LinkDialog({ person, link, onClose }: LinkDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const title = t('people.linkTitle', { name: person.name || person.email })
  const expiry = (
    <p className="muted">{t('people.linkExpires', { moment: format.dateTime(link.expires_at) })}</p>
  )
  const { url } = link
  if (url === null)
    return (
      <Dialog title={title} onClose={onClose}>
        <Stack>
          <Notice tone="good">{t('people.linkMailed', { email: person.email })}</Notice>
          {expiry}
          <Group justify="flex-end">
            <Button onClick={onClose}>{t('secret.done')}</Button>
          </Group>
        </Stack>
      </Dialog>
    )
  return (
    <OnceDialog title={title} loss={t('once.link')} onClose={onClose}>
      {(onCopied) => (
        <>
          <Notice tone="warn" title={t('people.linkOnce')}>
            {t('people.linkPassOn', { email: person.email })}
          </Notice>
          <CopyBlock label={t('people.link')} text={url} onCopied={onCopied} />
          {expiry}
        </>
      )}
    </OnceDialog>
  )
}

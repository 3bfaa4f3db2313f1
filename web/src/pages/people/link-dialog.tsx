// A one-time link: that it was mailed, or the link itself to pass on. It is shown once.
import { Button, Group, Modal, Stack } from '@mantine/core'
import type { PersonAnswer, SentLink } from '../../../../src/admin/contract/people.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { CopyBlock } from '../../parts/copy-block.tsx'
import { Notice } from '../../parts/notice.tsx'

type LinkDialogProps = {
  readonly person: PersonAnswer
  readonly link: SentLink
  readonly onClose: () => void
}

export function LinkDialog({ person, link, onClose }: LinkDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={link.mailed}
      title={t('people.linkTitle', { name: person.name || person.email })}
      closeButtonProps={{ 'aria-label': t('dialog.close') }}
    >
      <Stack>
        {link.url === null ? (
          <Notice tone="good">{t('people.linkMailed', { email: person.email })}</Notice>
        ) : (
          <>
            <Notice tone="warn" title={t('people.linkOnce')}>
              {t('people.linkPassOn', { email: person.email })}
            </Notice>
            <CopyBlock label={t('people.link')} text={link.url} />
          </>
        )}
        <p className="muted">
          {t('people.linkExpires', { moment: format.dateTime(link.expires_at) })}
        </p>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('secret.done')}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

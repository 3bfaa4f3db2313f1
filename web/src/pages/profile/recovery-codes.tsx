// The recovery codes, shown once: each lets one in without the app, one time.
import { Button, Group, Modal, Stack } from '@mantine/core'
import { useTranslation } from '../../i18n/use-translation.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Notice } from '../../parts/notice.tsx'
import styles from './profile.module.css'

type RecoveryCodesProps = { readonly codes: readonly string[] }

function RecoveryCodes({ codes }: RecoveryCodesProps) {
  const { t } = useTranslation()
  return (
    <Stack gap="xs">
      <Notice tone="warn" title={t('profile.codesOnce')}>
        {t('profile.codesAbout')}
      </Notice>
      <ul className={styles['codes']}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div>
        <CopyButton text={codes.join('\n')} label={t('profile.codes')} />
      </div>
    </Stack>
  )
}

export function RecoveryCodesDialog({
  codes,
  onClose,
}: RecoveryCodesProps & { readonly onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      title={t('profile.codes')}
      closeButtonProps={{ 'aria-label': t('dialog.close') }}
    >
      <RecoveryCodes codes={codes} />
      <Group justify="flex-end" mt="md">
        <Button onClick={onClose}>{t('secret.done')}</Button>
      </Group>
    </Modal>
  )
}

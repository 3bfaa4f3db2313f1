// The recovery codes, shown once: each replaces the authenticator for one sign-in.
import { useTranslation } from '../../i18n/use-translation.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Notice } from '../../parts/notice.tsx'
import { OnceDialog } from '../../parts/once-dialog.tsx'
import styles from './profile.module.css'

type RecoveryCodesDialogProps = { readonly codes: readonly string[]; readonly onClose: () => void }

export function RecoveryCodesDialog({ codes, onClose }: RecoveryCodesDialogProps) {
  const { t } = useTranslation()
  return (
    <OnceDialog title={t('profile.codes')} loss={t('once.codes')} onClose={onClose}>
      {(onCopied) => (
        <>
          <Notice tone="warn" title={t('profile.codesOnce')}>
            {t('profile.codesAbout')}
          </Notice>
          <ul className={styles['codes']} onCopy={onCopied}>
            {codes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
          <div>
            <CopyButton text={codes.join('\n')} label={t('profile.codes')} onCopied={onCopied} />
          </div>
        </>
      )}
    </OnceDialog>
  )
}

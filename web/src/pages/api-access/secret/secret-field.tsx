// The secret in its own field with a Copy button. A screen reader hears what it is and its length, not the secret
// itself.
import { Button, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { EyeIcon } from '../../../parts/icons.tsx'
import styles from './secret-dialog.module.css'

type SecretFieldProps = { readonly secret: string; readonly onCopied: () => void }

export function SecretField({ secret, onCopied }: SecretFieldProps) {
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

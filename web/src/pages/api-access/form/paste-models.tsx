// Adds a pasted list of model names, and reports those that do not exist here.
import { Button, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { ModelAnswer } from '../../../../../src/admin/contract/models.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { readPastedModels } from './model-choice.ts'
import form from './key-form.module.css'

type PasteModelsProps = {
  readonly all: readonly ModelAnswer[]
  readonly onAdd: (ids: readonly string[]) => void
}

export function PasteModels({ all, onAdd }: PasteModelsProps) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const { found, unknown } = readPastedModels(text, new Set(all.map(({ id }) => id)))
  return (
    <details className={form['more']}>
      <summary>{t('picker.paste')}</summary>
      <Stack gap="xs">
        <Textarea
          label={t('picker.pasteLabel')}
          description={t('picker.pasteHint')}
          autosize
          minRows={2}
          maxRows={8}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          error={
            unknown.length > 0 &&
            t('picker.unknown', { count: unknown.length, names: unknown.join(', ') })
          }
        />
        <Button
          variant="default"
          disabled={found.length === 0}
          onClick={() => {
            onAdd(found)
            setText(unknown.join('\n'))
          }}
        >
          {t('picker.pasteAdd', { count: found.length })}
        </Button>
      </Stack>
    </details>
  )
}

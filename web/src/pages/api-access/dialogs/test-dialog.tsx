// Makes a test call with an existing key.
import { Button, Group, Stack } from '@mantine/core'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { TestCall } from '../secret/test-call.tsx'
import type { KeyDialogProps } from './dialog-props.ts'

export function TestDialog({ keyInBrief: { id, name }, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  return (
    <Dialog onClose={onClose} title={t('testCall.title', { name })}>
      <Stack>
        <p>{t('testCall.about')}</p>
        <TestCall id={id} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('dialog.close')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

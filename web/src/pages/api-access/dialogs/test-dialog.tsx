// A test call with a key that exists already.
import { Button, Group, Modal, Stack } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { TestCall } from '../secret/test-call.tsx'
import type { KeyDialogProps } from './dialog-props.ts'

export function TestDialog({ keyInBrief: { id, name }, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('testCall.title', { name })}
      closeButtonProps={{ 'aria-label': t('dialog.close') }}
    >
      <Stack>
        <TestCall id={id} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('dialog.close')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

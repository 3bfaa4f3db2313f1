// Mail to people, through the server that the configuration names. The library is loaded with the first mail.
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** Resolves once the server has accepted it. */
  send(mail: Mail): Promise<void>
}

type SmtpSettings = {
  /** smtp://USER:PASSWORD@HOST:PORT */
  readonly url: string
  readonly from: string
}

const WAIT_MS_MAX = 10_000

export function smtpMailer({ url, from }: SmtpSettings): Mailer {
  return {
    async send(mail) {
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        url,
        connectionTimeout: WAIT_MS_MAX,
        greetingTimeout: WAIT_MS_MAX,
        socketTimeout: WAIT_MS_MAX,
      })
      try {
        await transport.sendMail({ from, ...mail })
      } finally {
        transport.close()
      }
    },
  }
}

// Mail to people, through the server that the configuration names: above all one-time links, short, in plain text, and
// without any text that a stranger chose. The library is loaded with the first mail.

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

type LinkMail = {
  readonly kind: keyof typeof LINK_MAILS
  readonly email: string
  readonly expiresAt: number
}

export function mailFor({ kind, email, expiresAt }: LinkMail, url: string): Mail {
  const until = `${new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const { subject, text } = LINK_MAILS[kind]
  return { to: email, subject, text: `${text}\n\n${url}\n\nThe link works once, until ${until}.\n` }
}

/** For somebody who can sign in already. */
export function memberMail(to: string, url: string): Mail {
  const text = 'You are now a member of another group in Tollgate. Sign in to see it:'
  return { to, subject: 'You are invited to a group in Tollgate', text: `${text}\n\n${url}\n` }
}

const LINK_MAILS = {
  invitation: {
    subject: 'You are invited to Tollgate',
    text: 'You may now sign in to Tollgate. Open this link to choose a password:',
  },
  reset: {
    subject: 'Choose a new password for Tollgate',
    text: 'An administrator has asked you to choose a new password for Tollgate. Open this link to do so:',
  },
} as const

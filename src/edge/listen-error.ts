// An address at which nobody can listen.

export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly place: { readonly host: string; readonly port: number }
  /** Whose address it was to be; one for both is the data plane's. */
  readonly plane: 'data' | 'admin'
  /** Of the operating system: EADDRINUSE, EACCES, … */
  readonly code: string

  constructor(
    { place, plane }: Pick<ListenError, 'place' | 'plane'>,
    cause: NodeJS.ErrnoException,
  ) {
    super(cause.message, { cause })
    this.place = place
    this.plane = plane
    this.code = cause.code ?? 'unknown'
  }
}

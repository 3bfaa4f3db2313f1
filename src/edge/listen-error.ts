// An address that cannot be listened on.

export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly place: { readonly host: string; readonly port: number }
  /** The plane that was to listen there; an address for both is the data plane's. */
  readonly plane: 'data' | 'admin'
  /** The operating system's: EADDRINUSE, EACCES, … */
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

// The names of what a client may call, and of the wire formats. Endpoints are also the permissions a key can have.

export const ENDPOINTS = [
  'models',
  'chat',
  'responses',
  'embeddings',
  'messages',
  'count_tokens',
] as const
export type Endpoint = (typeof ENDPOINTS)[number]

/** The two API families: they differ in the header that carries the key and in the shape of errors. */
export type Family = 'chat' | 'messages'

/** Where a key is read from: the header of the endpoint's family alone, or either family's. */
export const AUTH_HEADERS = ['strict', 'either'] as const
export type AuthHeaders = (typeof AUTH_HEADERS)[number]

/** A wire format: how a request and its answer are spelled, by a client or by a provider. */
export type Format = 'chat' | 'responses' | 'messages' | 'embeddings'
/** What a provider may speak: the clients' formats, and some that no client does. */
export type UpstreamFormat = Format | 'gemini' | 'converse' | EmbeddingFormat
/** Formats that ask for vectors; all others ask for the next turn of a conversation. */
type EmbeddingFormat = 'embeddings' | 'gemini_embeddings' | 'vertex_embeddings'
export const EMBEDDING_FORMATS: readonly UpstreamFormat[] = [
  'embeddings',
  'gemini_embeddings',
  'vertex_embeddings',
] satisfies readonly EmbeddingFormat[]
/** The formats of conversations: those a client speaks, and those a provider does. */
export type ChatFormat = Exclude<Format, EmbeddingFormat>
export type TargetFormat = Exclude<UpstreamFormat, EmbeddingFormat>

export type ModelKind = 'chat' | 'embedding'

/** What a model may or may not be able to do; the catalogue knows it, requests need it. */
export const ABILITIES = ['tools', 'images', 'files', 'structured_output', 'reasoning'] as const
export type Ability = (typeof ABILITIES)[number]

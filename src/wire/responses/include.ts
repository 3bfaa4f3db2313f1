// Extras that a request can ask for in `include`, by the format's names.

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
export const LOGPROBS = 'message.output_text.logprobs'

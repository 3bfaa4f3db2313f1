// What a request can ask to be told beside the answer itself, by the format's names in `include`.

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
export const LOGPROBS = 'message.output_text.logprobs'

// The environment that programs take a secret from: the variable that every snippet reads, and the lines that set it.

export const SECRET_VARIABLE = 'TOLLGATE_API_KEY'

/** The secret, and where it is used, as lines of an environment file. */
export function environmentText(secret: string, baseUrl: string): string {
  return `${SECRET_VARIABLE}=${secret}\nTOLLGATE_BASE_URL=${baseUrl}`
}

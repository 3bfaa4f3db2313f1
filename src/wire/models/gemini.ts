// What a Gemini model's name tells about it. Generations differ in how reasoning is configured, in what a
// conversation must bring back of it, and in whether they fetch what is at a URL.
import type { TargetModel } from '../../core/request.ts'

type Gemini = {
  readonly reasons: boolean
  /** Whether reasoning can be turned off. */
  readonly takesDisabled: boolean
}

export function geminiOf({ model, traits }: TargetModel): Gemini {
  return {
    reasons: traits?.reasons !== false && !isOfOldKind(model),
    takesDisabled: generationOf(model) < 3 && !isPro(model),
  }
}

/** 2 for gemini-2.5-flash, 3 for gemini-3.1-pro-preview; 0 when the name does not show it. */
export function generationOf(model: string): number {
  return Number(/(?:^|\/)gemini-(\d+)/.exec(model)?.[1] ?? 0)
}

/** Gemini models before 2.5 neither reason nor fetch anything, nor does any Gemma. */
function isOfOldKind(model: string): boolean {
  return /gemini-(?:1|2\.0)|gemma/.test(model)
}

/** Films are watched and heard in full, whatever they are declared as: no hold covers them as an image. */
const FILMS = /(?:^|\.)(?:youtube\.com|youtube-nocookie\.com|youtu\.be)$/

/** Whether a model fetches an image or a file from this URL. */
export function takesUrl(model: string, url: string): boolean {
  if (isOfOldKind(model) || !URL.canParse(url)) return false
  return !FILMS.test(new URL(url).hostname.replace(/\.$/, ''))
}

export function isPro(model: string): boolean {
  return model.includes('-pro')
}

// Folds texts so that a search compares them without regard to case. The folded forms are stored beside the texts,
// because both databases fold only ASCII letters.

export function caseFold(text: string): string {
  // To lower case first: only then does ß become what ẞ does, ς what σ does, and İ lose its dot.
  return text.normalize('NFC').toLowerCase().toUpperCase().replaceAll('I\u0307', 'I')
}

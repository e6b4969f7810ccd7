/**
 * House rules about size, words and edges. A rule that does not hold everywhere yet has a list in excused.json that
 * only shrinks.
 */
import { filesPerFolder, functionSpans, isTested, lineCount, productFiles } from './measures.ts'
import type { Complaint } from './rules.ts'
import { SUB_ROOMS, subRoomOf } from './rooms.ts'
import { isTest, resolveImport } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'

/** The most source files a folder may have. */
export const FOLDER_FILES = 20
/** The most lines a function may have. */
export const FUNCTION_LINES = 120
/** The most characters a line of comment or README may have. */
export const COMMENT_WIDTH = 120
/** A source file with more lines needs a test of its name or names one in its first line. */
export const UNTESTED_LINES = 80

/** A folder with more than 20 source files has a sub-room that was not made. */
export function folderSizes(files: readonly SourceFile[]): Complaint[] {
  return [...filesPerFolder(files)]
    .filter(([, count]) => count > FOLDER_FILES)
    .map(([path, count]) => ({
      rule: 'folders',
      path,
      says: `has ${count} source files, more than ${FOLDER_FILES}: a prefix of their names is a folder that was not made`,
    }))
}

/** No function has more than 120 lines. */
export function functionLengths(files: readonly SourceFile[]): Complaint[] {
  return productFiles(files).flatMap((file) =>
    functionSpans(file.text)
      .filter(({ lines }) => lines > FUNCTION_LINES)
      .map(({ lines, head }) => ({
        rule: 'functions',
        path: file.path,
        says: `"${head}" has ${lines} lines, more than ${FUNCTION_LINES}: cut it along the parts it names`,
      })),
  )
}

const BANNED = /somebody|nobody|everybody|anybody|whoever/i

/** Words that name no actor appear in no identifier, comment or string. */
export function bannedWords(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap(({ path, text }) => {
    const line = text.split('\n').findIndex((words) => BANNED.test(words))
    if (line < 0) return []
    const word = BANNED.exec(text)?.[0] ?? ''
    return [
      { rule: 'words', path, says: `line ${line + 1} has "${word}": name the actor; docs/glossary.md lists the nouns` },
    ]
  })
}

/** Lines of comments are at most 120 characters wide. */
export function commentWidths(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap(({ path, text }) => {
    const line = text.split('\n').findIndex((words) => words.length > COMMENT_WIDTH && /^\s*(\/\/|\/?\*)/.test(words))
    return line < 0
      ? []
      : [{ rule: 'width', path, says: `line ${line + 1} is a comment wider than ${COMMENT_WIDTH} characters: wrap it` }]
  })
}

/**
 * A file over 80 lines has a test of its name, or its first line says where it is tested. Components of the console
 * (`.tsx`) are tested in a browser, all together.
 */
export function testedFiles(files: readonly SourceFile[]): Complaint[] {
  const paths = new Set(files.map(({ path }) => path))
  return productFiles(files)
    .filter((file) => file.path.endsWith('.ts') && lineCount(file) > UNTESTED_LINES && !isTested(file, paths))
    .map(({ path }) => ({
      rule: 'tested',
      path,
      says: `is over ${UNTESTED_LINES} lines and has no test of its name: add one, or begin with "// Tested by src/….test.ts"`,
    }))
}

/** Files outside a sub-room import its public files alone. */
export function publicFiles(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => !isTest(path))
    .flatMap((file) =>
      file.imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .flatMap(({ specifier }) => {
          const target = resolveImport(file, specifier)
          const room = subRoomOf(target)
          if (room === undefined || file.path.startsWith(`src/${room}/`)) return []
          const name = target.slice(`src/${room}/`.length)
          if (SUB_ROOMS[room]!.includes(name)) return []
          return [
            {
              rule: 'public',
              path: file.path,
              says: `imports ${target}, which is not public; ${room} shows ${SUB_ROOMS[room]!.join(', ')}`,
            },
          ]
        }),
    )
}

const EXPORTS =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

/** The names a file imports from the files of the clone: `import { a, type B as C } from './x.ts'`. */
function importedNames(file: SourceFile): { readonly target: string; readonly names: readonly string[] }[] {
  const lists = /^\s*(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'(\.[^']+)'/gm
  return [...file.text.matchAll(lists)].map(([, list, specifier]) => ({
    target: resolveImport(file, specifier!),
    names: list!.split(',').map(
      (name) =>
        name
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/)[0]!,
    ),
  }))
}

/**
 * Every export is imported by another file. `users` are files outside src/ that import from it: scripts, benches and
 * tests. A file that is imported dynamically, as a namespace or as a worker counts as used by the names its importers
 * mention.
 */
export function unusedExports(files: readonly SourceFile[], users: readonly SourceFile[] = []): Complaint[] {
  const used = new Map<string, Set<string>>()
  const everything = [...files, ...users]
  const mark = (target: string, name: string): void => {
    used.set(target, (used.get(target) ?? new Set()).add(name))
  }
  for (const file of everything) {
    for (const { target, names } of importedNames(file)) for (const name of names) mark(target, name)
    const wholes = [
      ...file.imports.filter(({ dynamic }) => dynamic).map(({ specifier }) => specifier),
      ...[...file.text.matchAll(/^(?:import \* as \w+|export \*(?: as \w+)?) from '(\.[^']+)'/gm)].map(
        ([, specifier]) => specifier!,
      ),
      ...[...file.text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, specifier]) => specifier!),
    ]
    for (const specifier of wholes) {
      const target = resolveImport(file, specifier)
      for (const [word] of file.text.matchAll(/\w+/g)) mark(target, word)
      if (/^export \*/m.test(file.text)) mark(target, '*')
    }
  }
  return productFiles(files).flatMap((file) => {
    const names = used.get(file.path)
    if (names?.has('*')) return []
    return [...file.text.matchAll(EXPORTS)]
      .map(([, name]) => name!)
      .filter((name) => !names?.has(name))
      .filter((name) => !isPartOfAnExport(file.text, name))
      .map((name) => ({
        rule: 'exports',
        path: file.path,
        says: `exports ${name}, which no other file imports: remove "export" or the code`,
      }))
  })
}

/** A type that another export of its file mentions is part of that export's signature. */
function isPartOfAnExport(text: string, name: string): boolean {
  if (!new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(text)) return false
  return [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length > 1
}

/** Rooms whose text comes from networks, files of others and databases. `source` has this rule without exceptions. */
const FOREIGN_ROOMS = ['agent', 'apiserver', 'blobs', 'client', 'gateway', 'hub', 'store', 'wire']

/** Numbers in foreign text are read by core/read-number.ts. */
export function numberReaders(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => !isTest(path) && FOREIGN_ROOMS.some((room) => path.startsWith(`src/${room}/`)))
    .flatMap(({ path, text }) => {
      const line = text.split('\n').findIndex((words) => /\bNumber\(|\bparse(Int|Float)\(/.test(words))
      const says = `line ${line + 1} reads a number with Number or parseInt; foreign text is read by core/read-number.ts`
      return line < 0 ? [] : [{ rule: 'numbers', path, says }]
    })
}

/**
 * A regular expression that is made from text at run time can backtrack for hours. Constants of a file may be composed
 * of others; patterns of users are matched by core/text/glob.ts or re2js.
 */
export function patternsFromText(files: readonly SourceFile[]): Complaint[] {
  return productFiles(files)
    .filter(({ path }) => path.startsWith('src/') && !/^src\/(testing|sim)\//.test(path))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n')
      const line = lines.findIndex(
        (words) => /\bRegExp\(/.test(words) && !/^(export )?const \w+ = new RegExp\(/.test(words),
      )
      const says = `line ${line + 1} makes a regular expression from text; use core/text/glob.ts, or re2js for patterns of users`
      return line < 0 ? [] : [{ rule: 'patterns', path, says }]
    })
}

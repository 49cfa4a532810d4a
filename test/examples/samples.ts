/** A sample of `examples/signing/`: its commands are those that the README there names, to be typed in its folder. */
export interface SigningSample {
  readonly language: string;
  readonly folder: string;
  /** Says which version is there, and fails where none is. */
  readonly version: string;
  /** Only of a language that is compiled. */
  readonly build?: string;
  readonly run: string;
}

export const signingSamples: readonly SigningSample[] = [
  {
    language: 'Node.js',
    folder: 'node',
    version: 'node --version',
    run: 'node sign-and-post.mjs',
  },
  {
    language: 'TypeScript',
    folder: 'typescript',
    version: 'node --version',
    run: 'node sign-and-post.ts',
  },
  {
    language: 'Python',
    folder: 'python',
    version: 'python3 --version',
    run: 'python3 sign_and_post.py',
  },
  {
    language: 'PHP',
    folder: 'php',
    // Its curl is a package of its own.
    version: `php -r 'echo PHP_VERSION, " with curl ", curl_version()["version"];'`,
    run: 'php sign-and-post.php',
  },
  {
    language: 'Ruby',
    folder: 'ruby',
    version: 'ruby --version',
    run: 'ruby sign_and_post.rb',
  },
  {
    language: 'Go',
    folder: 'go',
    version: 'go version',
    build: 'go build',
    run: './sign-and-post',
  },
  {
    language: 'Java',
    folder: 'java',
    version: 'javac -version',
    build: 'javac SignAndPost.java',
    run: 'LC_ALL=C.UTF-8 java SignAndPost',
  },
  {
    language: 'C#',
    folder: 'csharp',
    version: 'mcs --version && mono --version | head -1',
    build: 'mcs -r:System.Net.Http.dll SignAndPost.cs',
    run: 'mono SignAndPost.exe',
  },
  {
    language: 'Rust',
    folder: 'rust',
    version: 'cargo --version',
    build: 'cargo build --quiet --locked',
    run: 'target/debug/sign-and-post',
  },
  {
    language: 'curl with openssl',
    folder: 'curl',
    version: 'openssl version && curl --version | head -1',
    run: 'bash sign-and-post.sh',
  },
];

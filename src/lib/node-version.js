// JavaScript, and loaded before everything else, so that an older Node reads it and can say what is missing.
const neededMajor = 26;

if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  console.error(
    `Parley needs Node.js ${neededMajor} or newer, and this is ${process.version}. "npm ci" installs one that "npm start" uses; or install it from https://nodejs.org.`,
  );
  process.exit(1);
}

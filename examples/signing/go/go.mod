module sign-and-post

go 1.19
